import { expect, test } from 'vitest'
import { plainLine, plainText } from './plain'

test.each([
  ['report\u202efdp.exe', 'report⟨RLO⟩fdp.exe'],
  ['\u2066a\u2069\u200eb\ufeff', '⟨LRI⟩a⟨PDI⟩⟨LRM⟩b⟨BOM⟩'],
  ['\u001b[31mred\u001b[0m', '⟨ESC⟩[31mred⟨ESC⟩[0m'],
  ['a\u0000b\u007fc\u009bd', 'a⟨NUL⟩b⟨DEL⟩c⟨9B⟩d'],
  ['so\u00adft\u180e', 'so⟨SHY⟩ft⟨MVS⟩'],
  ['f\u2061\u2064x\u206a\u206f', 'f⟨2061⟩⟨2064⟩x⟨206A⟩⟨206F⟩'],
  ['ok\u{e0001}\u{e0072}\u{e006d}\u{e007f}', 'ok⟨E0001⟩⟨TAG r⟩⟨TAG m⟩⟨E007F⟩'],
  ['first\r\nsecond\tthird', 'first\nsecond\tthird'],
])('%j can be seen as what it is', (text, seen) => {
  expect(plainText(text)).toBe(seen)
})

test('a name is one line', () => {
  expect(plainLine('  one\n two\u2028three\t\u202e ')).toBe('one two three ⟨RLO⟩')
})

test('words of any language, and people with families, are left alone', () => {
  const text = 'שלום مرحبا 👩‍👩‍👧 <script>alert(1)</script> می‌خواهم'
  expect(plainText(text)).toBe(text)
})
