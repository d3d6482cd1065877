import { expect, test } from 'vitest'
import { provenanceOf } from './provenance'

const provenance = { show: 'payments-split', play: 'docs', playbook: 'feature', agent: 'builder' }

test('a second line tells show and play, playbook and agent', () => {
  expect(provenanceOf({ display_name: 'Write the docs', provenance })).toEqual([
    'payments-split / docs',
    'playbook feature',
    'builder',
  ])
})

test('it leaves out what the name says', () => {
  const told = provenanceOf({ display_name: 'payments-split/docs', provenance })
  expect(told).toEqual(['playbook feature', 'builder'])
  expect(provenanceOf({ display_name: 'Builder', provenance: { ...provenance, show: null } })).toEqual([
    'playbook feature',
  ])
})
