/** How the whole graph is shown: with room for the toolbar below, and never larger than life. */
export const FIT = { padding: { top: 0.06, x: 0.06, bottom: '84px' }, maxZoom: 1 } as const;
