import { formatTime } from '@krmkit/meta'
import type { ReviewAnswer } from './reviews.ts'
import { userMembers } from './token-review.ts'

/** Tells callers who they are to the server, after impersonation. */
export const selfSubjectReview: ReviewAnswer = async ({ machinery, state }, review) => {
  review.metadata.creationTimestamp = formatTime(machinery.writer.environment.clock.now())
  review['status'] = { userInfo: userMembers(state.user) }
}
