import { hexText } from '@krmkit/meta/bytes'
import { digest } from '@krmkit/meta/platform'

/** Texts in the status of containers. */

/** A duration as messages print it: `10s`, `2m40s`. */
export function backoffText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.trunc(seconds / 60)
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`
}

/** The digest under which a registry would have the image: the same for the same name. */
export function imageID(image: string): string {
  return `${repositoryOf(image)}@sha256:${hexText(digest('sha256', [image]))}`
}

/** The image without its tag and digest, which follow the last part of its path. A pattern that is bound to the end would be quadratic. */
function repositoryOf(image: string): string {
  const lastPart = image.slice(image.lastIndexOf('/') + 1)
  const tagAt = lastPart.search(/[:@]/)
  return tagAt < 0 ? image : image.slice(0, tagAt - lastPart.length)
}
