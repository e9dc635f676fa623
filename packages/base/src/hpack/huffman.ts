/**
 * The Huffman code of HPACK, decoded four bits at a time.
 *
 * @see RFC 7541, 5.2 and appendix B
 */

/** Code length of each octet in bits. The code is canonical, so the lengths determine it. EOS is the last code, 30 ones. */
const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22,
  23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22,
  21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26,
  27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26,
  26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
]

/**
 * Transitions by state and nibble. A state is an inner node of the code tree. The low byte of a transition is the decoded octet; flags
 * tell whether it is set and whether the input is invalid.
 */
const emits = 0x100
const fails = 0x200
const stateShift = 10

type Node = [left: Node | number | undefined, right: Node | number | undefined]

function buildTree(): Node {
  const root: Node = [undefined, undefined]
  const octets = codeLengths.map((length, octet) => ({ length, octet })).sort((a, b) => a.length - b.length || a.octet - b.octet)
  let code = 0
  let bits = 0
  for (const { length, octet } of octets) {
    code = code * 2 ** (length - bits)
    bits = length
    let node = root
    for (let bit = length - 1; bit > 0; bit--) {
      const side = (code >>> bit) & 1
      node[side] ??= [undefined, undefined]
      node = node[side] as Node
    }
    node[code & 1] = octet
    code++
  }
  return root
}

interface Automaton {
  readonly transitions: Int32Array
  /** Whether input may end in a state: fewer than eight padding ones follow the last octet. */
  readonly accepting: Uint8Array
}

function buildAutomaton(): Automaton {
  const root = buildTree()
  const states: Node[] = [root]
  const numbers = new Map<Node, number>([[root, 0]])
  for (let i = 0; i < states.length; i++) {
    for (const child of states[i]!) {
      if (typeof child !== 'object') continue
      numbers.set(child, states.length)
      states.push(child)
    }
  }
  const transitions = new Int32Array(states.length * 16)
  states.forEach((from, state) => {
    for (let nibble = 0; nibble < 16; nibble++) transitions[state * 16 + nibble] = transition(from, { nibble, root, numbers })
  })
  const accepting = new Uint8Array(states.length)
  let padding: Node | number | undefined = root
  for (let bits = 0; bits < 8 && typeof padding === 'object'; bits++) {
    accepting[numbers.get(padding)!] = 1
    padding = padding[1]
  }
  return { transitions, accepting }
}

function transition(
  from: Node,
  options: { readonly nibble: number; readonly root: Node; readonly numbers: ReadonlyMap<Node, number> },
): number {
  const { nibble, root, numbers } = options
  let node = from
  let decoded = 0
  for (let bit = 3; bit >= 0; bit--) {
    const next = node[(nibble >>> bit) & 1]
    // The only code that is not an octet is EOS, which is invalid in a string.
    if (next === undefined) return fails
    if (typeof next === 'object') node = next
    else {
      decoded = emits | next
      node = root
    }
  }
  return (numbers.get(node)! << stateShift) | decoded
}

const { transitions, accepting } = buildAutomaton()

/** Maximum number of decoded octets: no code is shorter than five bits. */
export function maxDecodedLength(encoded: number): number {
  return Math.floor((encoded * 8) / 5)
}

/**
 * Decodes `source` from `start` to `end` into `target`, which must have room for `maxDecodedLength`.
 *
 * @returns the number of decoded octets; -1 for invalid input
 */
export function decodeHuffman(source: Uint8Array, options: { start: number; end: number; target: Uint8Array }): number {
  const { start, end, target } = options
  let state = 0
  let length = 0
  for (let i = start; i < end; i++) {
    const byte = source[i]!
    let step = transitions[state * 16 + (byte >>> 4)]!
    if ((step & emits) !== 0) target[length++] = step
    else if ((step & fails) !== 0) return -1
    step = transitions[(step >>> stateShift) * 16 + (byte & 15)]!
    if ((step & emits) !== 0) target[length++] = step
    else if ((step & fails) !== 0) return -1
    state = step >>> stateShift
  }
  return accepting[state] === 1 ? length : -1
}
