import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import { containerCells, labelsText } from '../../../printers/text.ts'
import type { PodTemplate } from '../../../types/core-v1.generated.ts'

export const podTemplatePrinter: Printer<PodTemplate> = {
  columns: [
    nameColumn,
    column('Containers', 'string', 'Names of the containers of the template.'),
    column('Images', 'string', 'Images of the containers of the template.'),
    column('Pod Labels', 'string', 'Labels of pods created from the template.'),
  ],
  cells({ metadata, template }) {
    return [metadata.name ?? '', ...containerCells(template?.spec?.containers), labelsText(template?.metadata?.labels)]
  },
}
