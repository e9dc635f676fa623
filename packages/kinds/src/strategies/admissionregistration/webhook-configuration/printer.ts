import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../types/admissionregistration-v1.generated.ts'

/** Serves validating and mutating configurations. */
export const webhookConfigurationPrinter: Printer<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> = {
  columns: [nameColumn, column('Webhooks', 'integer', 'Number of webhooks.'), ageColumn],
  cells: ({ metadata, webhooks }, { now }) => [
    metadata.name ?? '',
    webhooks?.length ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}
