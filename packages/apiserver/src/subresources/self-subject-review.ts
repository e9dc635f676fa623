import { formatTime } from '@krmkit/meta'
import type { ReviewAnswer } from './review-answer.ts'
import { userMembers } from './token-review.ts'

/** The user of the request, after impersonation. */
export const selfSubjectReview: ReviewAnswer = async ({ clock }, { user }, review) => {
  review.metadata.creationTimestamp = formatTime(clock.now())
  review['status'] = { userInfo: userMembers(user) }
}
