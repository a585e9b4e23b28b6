// A page with the bars of the inbox and one line of evidence; its title is what was seen. Bundled by browser-bundle.mjs.
import { h, render } from 'preact';
import { useState } from 'preact/hooks';
import { useCoverage } from '../../../gateway/inbox/page/hooks/use-coverage.ts';

const bar = (edge, height) =>
  h('div', { 'data-bar': edge, style: `position: sticky; ${edge}: 0; height: ${height}px; background: silver` });

function Page() {
  const [height, setHeight] = useState(60);
  window.setBar = setHeight;
  document.title = [...useCoverage('a review')].join(' ');
  return h(
    'div',
    null,
    bar('top', 50),
    h('div', { style: 'height: 1000px' }),
    h('div', { id: 'line', style: 'height: 20px', 'data-block': 'line' }, 'a line'),
    h('div', { style: 'height: 1000px' }),
    bar('bottom', height),
  );
}

document.body.style.margin = '0';
render(h(Page), document.body);
