import { useEffect, useState } from 'preact/hooks';

export type Theme = 'auto' | 'light' | 'dark';

const STORED = 'countersign.theme';
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' };

/** The colours: of the system, or one of the two. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  });
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(STORED, theme);
  }, [theme]);
  return [theme, () => setTheme(NEXT[theme])];
}
