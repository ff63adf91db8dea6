import { useEffect } from 'react';
import { create } from 'zustand';

export interface Crumb {
  label: string;
  to?: string | undefined;
}

export const useCrumbStore = create<{ crumbs: readonly Crumb[] }>(() => ({ crumbs: [] }));

/** What the page adds to the breadcrumb behind the workspace and the section. */
export function useCrumbs(...crumbs: Crumb[]): void {
  const text = JSON.stringify(crumbs);
  useEffect(() => {
    useCrumbStore.setState({ crumbs: JSON.parse(text) as Crumb[] });
    return () => useCrumbStore.setState({ crumbs: [] });
  }, [text]);
}
