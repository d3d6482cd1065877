import type { RunInFull } from '@/api/runs'
import { formatCount } from '@/lib/numbers'
import { plainLine } from '@/lib/plain'
import { ActivityChip } from '@/vocabulary/ActivityChip'
import { branchTone, growTree, type Limb, nameOf } from '@/vocabulary/branches'

type Props = {
  run: RunInFull
  chosen: string | null
  onChoose: (branchId: string | null) => void
}

/** The branches of a run as a tree of forks; one of them, or all in order, is read beside it. */
export function BranchList({ run, chosen, onChoose }: Props) {
  const limbs = growTree(run.branches)
  const hasForks = run.branches.some((branch) => branch.parent_branch_id !== null)
  return (
    <nav
      aria-label="Branches"
      className="flex max-h-[min(224px,30dvh)] min-h-0 flex-col overflow-y-auto border-line bg-sunken px-2 max-wide:border-b wide:max-h-none wide:border-r"
    >
      <h2 className="flex h-9 flex-none items-center px-2 strong wide:h-11">
        Branches
        <span className="ml-auto text-12 font-normal text-text-3">{formatCount(run.branches.length)}</span>
      </h2>
      {run.branches.length > 1 ? (
        <Choice isChosen={chosen === null} depth={0} onChoose={() => onChoose(null)}>
          <span className="contents items-center gap-2 wide:flex">
            <b className="cut medium">All in order</b>
            <Messages count={run.message_count} />
          </span>
          <span className="cut text-12 text-text-3 max-wide:flex-1">as it was stored, every branch</span>
        </Choice>
      ) : null}
      {limbs.map((limb) => (
        <Choice
          key={limb.branch.id}
          isChosen={chosen === limb.branch.id}
          depth={limb.depth}
          onChoose={() => onChoose(limb.branch.id)}
        >
          <BranchWords limb={limb} run={run} />
        </Choice>
      ))}
      {hasForks ? (
        <p className="px-2 pt-3 text-12 text-pretty text-text-3">
          A fork shares its parent's messages up to the fork; only what came after is counted.
        </p>
      ) : null}
      {/* The room below the last one: where there is more, it fades into this. */}
      <span className="pointer-events-none sticky bottom-0 h-6 flex-none bg-linear-to-t from-sunken to-transparent wide:h-3" />
    </nav>
  )
}

type ChoiceProps = { isChosen: boolean; depth: number; onChoose: () => void; children: React.ReactNode }

/** How many messages, at the end of the line. */
function Messages({ count }: { count: number }) {
  return (
    <span className="ml-auto min-w-12 text-right text-12 text-text-3 max-wide:order-1 max-wide:ml-0">
      {formatCount(count)}
    </span>
  )
}

/** One to choose: two lines in the column beside the transcript, one in the list above it. */
function Choice({ isChosen, depth, onChoose, children }: ChoiceProps) {
  return (
    <button
      type="button"
      aria-current={isChosen ? 'true' : undefined}
      onClick={onChoose}
      style={{ paddingLeft: 8 + Math.min(depth, 6) * 18 }}
      className={`mb-0.5 flex flex-none items-center gap-2 rounded-control py-1.5 pr-2 text-left wide:grid wide:items-stretch wide:gap-0.5 wide:py-2 ${isChosen ? 'bg-surface shadow-[0_0_0_1px_var(--line-strong)]' : 'hover:bg-active'}`}
    >
      {children}
    </button>
  )
}

function BranchWords({ limb, run }: { limb: Limb; run: RunInFull }) {
  const { branch, parent } = limb
  // A run that is gone does nothing; what it did last is kept for its timeline.
  const isBusy = run.activity !== null && branch.activity !== null && branch.activity.kind !== 'unknown'
  const isFirst = branch.id === run.branches[0]?.id
  const model = branch.model === null || branch.model === parent?.model ? null : branch.model
  const facts = [
    parent === null || branch.forked_at === null ? null : `forked at #${branch.forked_at}`,
    isFirst && run.provenance.agent !== nameOf(branch) ? run.provenance.agent : null,
    model === null ? null : model.replace(/^.*\//, ''),
  ]
    .filter((fact) => fact !== null)
    .map(plainLine)
    .join(' · ')
  return (
    <>
      <span className="contents min-w-0 items-center gap-2 wide:flex">
        <span
          className={`size-[7px] flex-none rounded-full bg-tone t-${branchTone(branch, run)}`}
          aria-hidden="true"
        />
        <b className="cut medium">{plainLine(nameOf(branch))}</b>
        <Messages count={branch.message_count} />
      </span>
      <span className="contents min-h-5 min-w-0 items-center gap-2 pl-[15px] wide:flex">
        <span className="cut text-12 text-text-3 max-wide:flex-1" title={facts}>
          {facts}
        </span>
        {isBusy ? (
          <span className="ml-auto flex max-w-4/5 flex-none">
            <ActivityChip activity={branch.activity} />
          </span>
        ) : null}
      </span>
    </>
  )
}
