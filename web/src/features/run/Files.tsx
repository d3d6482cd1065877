import { useState } from 'react'
import type { Schema } from '@/api/client'
import type { RunInFull } from '@/api/runs'
import { useNow } from '@/lib/clock'
import { countOf, formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { formatMoment, formatWhole } from '@/lib/time'
import { Panel } from '@/ui/Panel'
import { MessageLink } from '@/vocabulary/MessageLink'
import { moreFilesWords, splitPath, writtenWords } from './words'

const FILES_AT_FIRST = 8
const HOW_WORDS: Record<Schema['HowTouched'], string> = { read: 'read', written: 'written' }

/** The files that tool calls name, written ones first. */
export function Files({ run }: { run: RunInFull }) {
  const [isWhole, setWhole] = useState(false)
  const now = useNow(run.last_message_at)
  const shown = isWhole ? run.files : run.files.slice(0, FILES_AT_FIRST)
  const left = run.files.length - shown.length
  const all = run.files.length + run.files_left_out
  return (
    <Panel
      id="files"
      className="overflow-hidden"
      title="Files touched"
      count={formatCount(all)}
      {...(all === 0 ? {} : { more: writtenWords(run) })}
    >
      {all === 0 ? <p className="px-4 py-3 text-text-3">No tool call of this run names a file.</p> : null}
      {all === 0 ? null : (
        <table className="w-full table-fixed">
          <caption className="sr-only">Files touched</caption>
          <colgroup>
            <col />
            <col className="w-20" />
            <col className="w-20" />
            <col className="w-28" />
          </colgroup>
          <thead className="sr-only">
            <tr>
              <th>File</th>
              <th>How</th>
              <th>Times</th>
              <th>Last</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((file) => (
              <tr key={file.path} className="border-b border-line last:border-0 hover:bg-hover">
                <td className="h-9 pr-3 pl-4">
                  <Path path={file.path} />
                </td>
                <td className={`px-1 ${file.how === 'written' ? '' : 'text-text-3'}`}>
                  {HOW_WORDS[file.how]}
                </td>
                <td className="px-1 text-right text-text-2">{countOf(file.times, 'time')}</td>
                <td className="pr-4 pl-1 text-right whitespace-nowrap text-text-3">
                  <LastTouch run={run} file={file} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {left > 0 ? (
        <button
          type="button"
          className="h-11 w-full border-t border-line px-4 text-left text-12 text-text-3 hover:bg-hover hover:text-text"
          onClick={() => setWhole(true)}
        >
          {moreFilesWords(run, shown.length)}
        </button>
      ) : null}
      {left === 0 && run.files_left_out > 0 ? (
        <p className="px-4 py-3 text-12 text-text-3">
          {countOf(run.files_left_out, 'more file')}; li runs show lists them all.
        </p>
      ) : null}
    </Panel>
  )
}

/** A path on one line: where it is too long the folder is cut, and the file name only when it alone is too long. */
function Path({ path }: { path: string }) {
  const { folder, name } = splitPath(path)
  return (
    <span className="mono flex min-w-0" title={plainLine(path)}>
      <span className="cut shrink-[999] text-text-3">{folder}</span>
      <span className="cut max-w-full flex-none">{name}</span>
    </span>
  )
}

function LastTouch({ run, file, now }: { run: RunInFull; file: RunInFull['files'][number]; now: number }) {
  const place = run.places[file.last_message_id]
  const moment = formatMoment(file.last_at, now)
  if (place === undefined) return moment
  return (
    <MessageLink
      runId={run.id}
      place={place}
      title={`#${place.position}, ${formatWhole(file.last_at)}`}
      className="hover:text-text hover:underline"
    >
      {moment}
    </MessageLink>
  )
}
