import { formatBytes } from '@/lib/numbers'
import { Icon } from '@/ui/Icon'
import { Panel } from '@/ui/Panel'
import { Prose } from './Prose'

type Props = { text: string; isOpen: boolean; onToggle: () => void }

/** The plan that people write, closed until somebody wants to read it. */
export function ShowPlan({ text, isOpen, onToggle }: Props) {
  return (
    <Panel id="plan" className="scroll-mt-16">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex h-11 w-full items-center gap-2 rounded-panel px-4 text-left hover:bg-hover"
        onClick={onToggle}
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} className="text-text-3" />
        <span className="strong">Plan</span>
        <span className="mono text-text-3">_show.md</span>
        <span className="ml-auto text-12 text-text-3">{formatBytes(new Blob([text]).size)}</span>
      </button>
      {isOpen ? (
        <div className="border-t border-line px-4 py-4">
          <Prose text={text} />
        </div>
      ) : null}
    </Panel>
  )
}
