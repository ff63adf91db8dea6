import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const accent: MantineColorsTuple = [
  '#eceefc',
  '#d6daf8',
  '#adb4f0',
  '#8791ea',
  '#6772e2',
  '#5762dd',
  '#4a55d6',
  '#3d47c0',
  '#343da8',
  '#2a3290',
];

/** Greys with a slight blue, as the tokens have them: Mantine draws inputs and borders of the dark theme with these. */
const dark: MantineColorsTuple = [
  '#e7eaf1',
  '#c3cad8',
  '#a8b0c1',
  '#8a93a7',
  '#3a4254',
  '#2b3240',
  '#1c212c',
  '#161a23',
  '#12151d',
  '#0f1219',
];

const dense = { defaultProps: { size: 'xs' } };

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 5 },
  colors: { accent, dark },
  fontFamily: 'var(--pawl-font)',
  fontFamilyMonospace: 'var(--pawl-mono)',
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: { fontWeight: '600' },
  defaultRadius: 6,
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '10px', xl: '14px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '20px', xl: '28px' },
  shadows: { xs: 'none', sm: 'none', md: 'var(--pawl-shadow)', lg: 'var(--pawl-shadow)', xl: 'var(--pawl-shadow)' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: dense,
    TextInput: dense,
    PasswordInput: dense,
    NumberInput: dense,
    Select: dense,
    MultiSelect: dense,
    Textarea: dense,
    JsonInput: dense,
    Checkbox: dense,
    Switch: dense,
    SegmentedControl: dense,
    Menu: { defaultProps: { shadow: 'md', radius: 8, transitionProps: { duration: 90 } } },
    Popover: { defaultProps: { shadow: 'md', radius: 8, transitionProps: { duration: 90 } } },
    Tooltip: { defaultProps: { openDelay: 350, transitionProps: { duration: 90 }, fz: 12 } },
    Modal: {
      defaultProps: {
        radius: 10,
        centered: true,
        transitionProps: { duration: 120 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
  },
});

/** Mantine's own colours follow Pawl's tokens, so that both themes have one source. */
export const cssVariables: CSSVariablesResolver = () => {
  const shared = {
    '--mantine-color-body': 'var(--pawl-surface)',
    '--mantine-color-text': 'var(--pawl-text)',
    '--mantine-color-dimmed': 'var(--pawl-text-2)',
    '--mantine-color-placeholder': 'var(--pawl-text-3)',
    '--mantine-color-default': 'var(--pawl-surface)',
    '--mantine-color-default-hover': 'var(--pawl-hover)',
    '--mantine-color-default-color': 'var(--pawl-text)',
    '--mantine-color-default-border': 'var(--pawl-line-strong)',
    '--mantine-color-error': 'var(--status-failed)',
    '--mantine-color-anchor': 'var(--pawl-accent-text)',
  };
  return { variables: {}, light: shared, dark: shared };
};
