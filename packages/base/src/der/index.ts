/** Reading and writing DER (ITU-T X.690) and the PEM around it. A separate entry point: `@krmkit/base/der`. */

export { encodeBase64, writePem } from './pem-writer.ts'
export {
  type DerElement,
  DerReader,
  isDerError,
  malformedDer,
  readBitString,
  readBoolean,
  readOid,
  readSmallInteger,
  readUnsigned,
  readWhole,
  tags,
} from './reader.ts'
export { hasControlCharacter, readIa5, readText } from './strings.ts'
export {
  ascii,
  bitString,
  boolean,
  der,
  directoryString,
  explicit,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  setOf,
  time,
} from './writer.ts'
