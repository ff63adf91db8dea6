import { createContext, useContext } from 'react';

import type { Permission, Session, WorkspaceAccess } from './types';

export interface Place {
  session: Session;
  workspace: WorkspaceAccess;
}

export const PlaceContext = createContext<Place | null>(null);

/** The workspace of the address, and who is signed in. Only below the frame. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error('usePlace is called outside the frame');
  return place;
}

export function useWorkspace(): string {
  return usePlace().workspace.slug;
}

export function useMay(permission: Permission): boolean {
  return usePlace().workspace.permissions.includes(permission);
}
