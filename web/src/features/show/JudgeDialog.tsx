import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { judgePlay, type PlayInShow, showKeys } from '@/api/shows'
import { plainLine } from '@/lib/plain'
import { ActFoot, Dialog } from '@/ui/Dialog'
import { FormField, FormText } from '@/ui/FormField'
import { Icon } from '@/ui/Icon'
import { Segmented } from '@/ui/Segmented'
import { toasts } from '@/ui/toasts'
import { Trouble } from '@/vocabulary/Trouble'

type Verdict = 'accept' | 'refuse'

const VERDICTS = [
  { word: 'accept', text: 'Accept' },
  { word: 'refuse', text: 'Request changes' },
] as const satisfies readonly { word: Verdict; text: string }[]

/** A person's verdict on a play. What would come of it is asked of the server before it is done. */
export function JudgeDialog({ play, onClose }: { play: PlayInShow; onClose: () => void }) {
  const [verdict, setVerdict] = useState<Verdict>('accept')
  const [feedback, setFeedback] = useState('')
  const [note, setNote] = useState('')
  const queries = useQueryClient()
  const passed = verdict === 'accept'
  const trial = useQuery({
    // Not below the keys of the show: once it is judged, the trial must not be asked again.
    queryKey: ['trial', play.topic, play.name, verdict],
    staleTime: 0,
    gcTime: 0,
    queryFn: () => judgePlay(play.topic, play.name, { passed }, true),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const judge = useMutation({
    mutationFn: () =>
      judgePlay(
        play.topic,
        play.name,
        { passed, feedback: feedback.trim() || null, note: note.trim() || null },
        false,
      ),
    onSuccess: (judged) => {
      void queries.invalidateQueries({ queryKey: showKeys.all })
      toasts.done(`${plainLine(play.name)} is ${judged.to_status}`, `It was ${judged.from_status}.`)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Judge ${plainLine(play.name)}?`}
      says="Your verdict is written into its files and the database, with your name in the audit log."
      foot={
        <ActFoot
          onClose={onClose}
          disabled={trial.data === undefined || trial.error !== null || judge.isPending}
          onClick={() => judge.mutate()}
        >
          {passed ? 'Accept it' : 'Request changes'}
        </ActFoot>
      }
    >
      <Segmented label="Verdict" words={VERDICTS} value={verdict} onChange={setVerdict} />
      <FormField label="Feedback" aside="for the agent of the next attempt">
        <FormText
          value={feedback}
          maxLength={100_000}
          onChange={(event) => setFeedback(event.target.value)}
        />
      </FormField>
      <FormField label="Note" aside="for people">
        <FormText value={note} maxLength={100_000} onChange={(event) => setNote(event.target.value)} />
      </FormField>
      <div className="min-h-12 text-text-2">
        {trial.error ? (
          <Refused message={trial.error.message} />
        ) : trial.data === undefined ? null : (
          <p>
            It is <span className="mono">{trial.data.from_status}</span> and becomes{' '}
            <span className="mono">{trial.data.to_status}</span>.
            <span className="mt-1 block text-12 text-text-3">
              {trial.data.files.length === 0
                ? 'Its folder is not on this machine: only the database changes.'
                : `Writes ${trial.data.files.join(', ')}`}
            </span>
          </p>
        )}
        {judge.error ? <Trouble error={judge.error} /> : null}
      </div>
    </Dialog>
  )
}

function Refused({ message }: { message: string }) {
  return (
    <p role="alert" className="t-warning flex gap-2">
      <Icon name="warning" className="mt-0.5 text-tone" />
      This would be refused, so nothing will change. {message}
    </p>
  )
}
