/** Bootstrap tokens, signed cluster information, public key pins. Entry point `@krmkit/certificates/bootstrap`. */

export * from './browser.ts'
export { checkPublicKeyPins, parsePublicKeyPin, publicKeyPinOf } from './public-key-pin.ts'
