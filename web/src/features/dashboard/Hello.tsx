import type { ReactNode } from 'react'
import { useConnection } from '@/api/live'
import { CopyButton } from '@/ui/CopyButton'
import { Icon, type IconName } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Command } from '@/ui/states'
import { Card } from './Card'
import { CURL, PYTHON } from './firstRun'
import { toAttention, toEnded, toExecutions } from './lists'

/** The dashboard before the first run: what would be here, and what to type for it. */
export function Hello() {
  return (
    <>
      <section aria-label="Key numbers" className="grid grid-cols-2 gap-3 wide:grid-cols-4">
        <Card
          size="empty"
          label="Attention"
          link={toAttention()}
          count={0}
          value="0"
          foot="Nothing needs a look"
        />
        <Card
          size="empty"
          label="Active executions"
          link={toExecutions}
          count={0}
          value="0"
          foot="Nothing is running"
        />
        <Card size="empty" label="Outcomes 24h" link={toEnded} value="–" foot="No run has ended yet" />
        <Card size="empty" label="Latency 24h" link={toEnded} value="–" foot="Needs one finished run" />
      </section>
      <Panel className="overflow-hidden">
        <header className="grid gap-0.5 border-b border-line px-6 py-5">
          <h2 className="text-15 strong">Record your first run</h2>
          <p className="text-text-2">
            Lion Studio is listening on this machine. Pick whichever fits; the run appears here while it
            happens.
          </p>
        </header>
        <div className="grid gap-px bg-line min-[900px]:grid-cols-2">
          <Way icon="file" title="From your own Python" says="Leaving the block ends the run.">
            <Code text={PYTHON} label="Python lines" />
          </Way>
          <Way icon="link" title="From any language" says="Over HTTP: begin, say something, end.">
            <Code text={CURL} label="curl lines" />
          </Way>
          <Way
            icon="export"
            title="What you ran before"
            says="Copies earlier runs, shows and teams. Safe to repeat, never edits them."
          >
            <Command>li state import</Command>
            <Command>li state import-shows</Command>
            <Command>li state import-teams</Command>
            <Command>li state import-db FILE</Command>
          </Way>
          <Way icon="tool" title="From the terminal" says="The same runs, without a browser.">
            <Command>li runs ls</Command>
            <Command>li state stats</Command>
            <Command>li --help</Command>
          </Way>
        </div>
        <Waiting />
      </Panel>
    </>
  )
}

type WayProps = { icon: IconName; title: string; says: string; children: ReactNode }

function Way({ icon, title, says, children }: WayProps) {
  return (
    <section className="grid content-start gap-2 bg-surface px-6 py-5">
      <h3 className="flex items-center gap-2 strong">
        <Icon name={icon} className="text-text-3" />
        {title}
      </h3>
      <p className="mb-1 text-text-2">{says}</p>
      {children}
    </section>
  )
}

function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="relative max-w-xl min-w-0">
      <div
        role="region"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto rounded-control border border-line bg-sunken py-2.5 pr-10 pl-3"
      >
        <pre className="font-mono text-12 leading-[19px]">{text}</pre>
      </div>
      <span className="absolute top-1.5 right-1.5 rounded-control bg-sunken">
        <CopyButton text={text} label={`Copy the ${label}`} />
      </span>
    </div>
  )
}

function Waiting() {
  const isLive = useConnection().state === 'live'
  return (
    <p
      role="status"
      className={`t-${isLive ? 'success' : 'warning'} flex items-center justify-end gap-2 border-t border-line bg-sunken px-6 py-3 text-text-2`}
    >
      <span aria-hidden="true" className="size-[7px] rounded-full bg-tone" />
      {isLive ? 'Waiting for the first message' : 'Not connected yet'}
    </p>
  )
}
