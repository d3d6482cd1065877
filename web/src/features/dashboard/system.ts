import type { Stats } from '@/api/dashboard'
import { countOf } from '@/lib/numbers'

export type SystemWord = { isWell: boolean; tone: string; says: string; because: string }

/** How the studio itself is doing, and what makes it so. */
export function systemWord({ feed_problem, doctor }: Stats['system']): SystemWord {
  if (feed_problem !== null) return trouble('Live news do not come', feed_problem)
  if (!doctor.is_running) return trouble('The doctor does not look', 'Nobody judges the health of runs now.')
  if (doctor.failures_in_a_row > 0) {
    const tries = countOf(doctor.failures_in_a_row, 'look')
    return trouble('The doctor fails', `${tries} failed. ${doctor.last_failure?.sentence ?? ''}`.trim())
  }
  return {
    isWell: true,
    tone: 'success',
    says: 'System healthy',
    because: 'News come, and the doctor looks.',
  }
}

const trouble = (says: string, because: string): SystemWord => ({
  isWell: false,
  tone: 'warning',
  says,
  because,
})
