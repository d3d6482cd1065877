import { quoted } from '@/lib/quoted'

export const sendCommand = (team: string): string => `li team send ${quoted(team)} "…"`
