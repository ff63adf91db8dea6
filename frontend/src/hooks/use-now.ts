import { useEffect, useState } from 'react';

/** The present time, again every `every` ms while `active`. One component, one clock: keep it near the leaf that shows it. */
export function useNow(every = 1000, active = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, active]);
  return now;
}
