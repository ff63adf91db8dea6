import {
  IconAlertOctagon,
  IconArrowMerge,
  IconArrowRight,
  IconArrowsSplit2,
  IconBrandPython,
  IconBrowser,
  IconCalendar,
  IconClockPause,
  IconCode,
  IconDatabase,
  IconFileExport,
  IconFileImport,
  IconFileZip,
  IconFlag,
  IconForms,
  IconGitBranch,
  IconLifebuoy,
  IconMail,
  IconPlayerPlay,
  IconRefresh,
  IconRepeat,
  IconRobot,
  IconRoute,
  IconShieldCheck,
  IconSubtask,
  IconTemplate,
  IconTextScan2,
  IconTools,
  IconUserCheck,
  IconWebhook,
  IconWorldWww,
} from '@tabler/icons-react';
import { memo } from 'react';

/** By the names that the step library uses. A plug-in's own name gets the tool: every icon weighs, so not all come along. */
const ICONS: Readonly<Record<string, typeof IconTools>> = {
  'alert-octagon': IconAlertOctagon,
  'arrow-merge': IconArrowMerge,
  'arrow-right': IconArrowRight,
  'arrows-split-2': IconArrowsSplit2,
  'brand-python': IconBrandPython,
  browser: IconBrowser,
  calendar: IconCalendar,
  'clock-pause': IconClockPause,
  code: IconCode,
  database: IconDatabase,
  'file-export': IconFileExport,
  'file-import': IconFileImport,
  'file-zip': IconFileZip,
  flag: IconFlag,
  forms: IconForms,
  'git-branch': IconGitBranch,
  lifebuoy: IconLifebuoy,
  mail: IconMail,
  'player-play': IconPlayerPlay,
  refresh: IconRefresh,
  repeat: IconRepeat,
  robot: IconRobot,
  route: IconRoute,
  'shield-check': IconShieldCheck,
  subtask: IconSubtask,
  template: IconTemplate,
  'text-scan-2': IconTextScan2,
  'user-check': IconUserCheck,
  webhook: IconWebhook,
  'world-www': IconWorldWww,
};

interface Props {
  /** A Tabler icon's name without its prefix. */
  name: string | undefined;
  size?: number;
}

export const KindIcon = memo(function KindIcon({ name, size = 18 }: Props) {
  const Icon = (name && ICONS[name]) || IconTools;
  return <Icon size={size} stroke={1.6} aria-hidden="true" />;
});
