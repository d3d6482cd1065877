import { useQuery } from '@tanstack/react-query'
import { type Signal, statsQuery } from '@/api/dashboard'
import { Tab, Tabs } from '@/ui/Tabs'
import { SIGNAL_WORDS, SIGNALS } from '@/vocabulary/signals'

/** What needs a look, by why it does; each with how many there are. */
export function SignalTabs({ current }: { current: Signal | undefined }) {
  const numbers = useQuery(statsQuery).data?.attention
  const tabs = [
    { signal: undefined, label: 'All', count: numbers?.total },
    ...SIGNALS.map((signal) => ({
      signal,
      label: sentenceCase(SIGNAL_WORDS[signal]),
      count: numbers?.by_signal[signal],
    })),
  ]
  return (
    <Tabs label="Signals">
      {tabs.map(({ signal, label, count }) => (
        <Tab
          key={label}
          isOn={signal === current}
          link={{ to: '/attention', search: signal === undefined ? {} : { signal } }}
          count={count}
        >
          {label}
        </Tab>
      ))}
    </Tabs>
  )
}

const sentenceCase = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)
