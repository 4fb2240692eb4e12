#include "foxhunt/report/page_frame.h"

namespace foxhunt::report {

// Values under the pointer (mouse, finger, arrow keys), the theme, everything open in print.
const char* page_script() {
  return R"JS(
(() => {
  'use strict';
  const root = document.documentElement;
  const button = document.getElementById('theme');
  const keep = {
    get() { try { return localStorage.getItem('foxhunt-theme'); } catch { return null; } },
    set(v) { try { localStorage.setItem('foxhunt-theme', v); } catch { /* a file may have none */ } },
  };
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark'
                                        : matchMedia('(prefers-color-scheme: dark)').matches;
  if (keep.get() === 'dark' || keep.get() === 'light') root.dataset.theme = keep.get();
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    keep.set(root.dataset.theme);
  });
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));

  const make = (name, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    return e;
  };
  for (const plot of document.querySelectorAll('[data-hover]')) {
    const data = JSON.parse(plot.dataset.hover);
    const svg = plot.querySelector('svg');
    const line = make('line', {y1: data.t, y2: data.b, class: 'cross'});
    const dots = data.s.map(s => make('circle', {r: 4, class: 'dot s' + s.c % 6}));
    const tip = document.createElement('div');
    tip.className = 'tip';
    tip.setAttribute('role', 'status');
    svg.append(line, ...dots);
    plot.append(tip);
    let at = -1;
    const hide = () => { at = -1; plot.classList.remove('on'); };
    const show = i => {
      at = i;
      const x = data.x[i];
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
      tip.replaceChildren();
      const head = document.createElement('b');
      head.textContent = data.k[i];
      tip.append(head);
      data.s.forEach((s, n) => {
        const y = s.y[i];
        dots[n].style.display = y === null ? 'none' : '';
        if (y !== null) { dots[n].setAttribute('cx', x); dots[n].setAttribute('cy', y); }
        if (!s.v[i]) return;
        const row = document.createElement('span');
        if (s.n) {
          const swatch = document.createElement('i');
          swatch.className = 's' + s.c % 6;
          row.append(swatch, s.n + ' ');
        }
        const value = document.createElement('em');
        value.textContent = s.v[i];
        row.append(value);
        tip.append(row);
      });
      plot.classList.add('on');
      const box = svg.getBoundingClientRect();
      const px = x * box.width / data.w;
      const left = px + 14 + tip.offsetWidth > box.width ? Math.max(0, px - 14 - tip.offsetWidth) : px + 14;
      tip.style.left = Math.min(left, Math.max(0, box.width - tip.offsetWidth)) + 'px';
      tip.style.top = data.t * box.height / data.h + 'px';
    };
    const near = e => {
      const box = svg.getBoundingClientRect();
      const x = (e.clientX - box.left) * data.w / box.width;
      let best = 0;
      data.x.forEach((v, i) => { if (Math.abs(v - x) < Math.abs(data.x[best] - x)) best = i; });
      show(best);
    };
    plot.addEventListener('pointermove', near);
    plot.addEventListener('pointerdown', near);
    plot.addEventListener('pointerleave', hide);
    plot.addEventListener('blur', hide);
    plot.addEventListener('keydown', e => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
      if (e.key === 'Escape') hide();
      if (!step) return;
      e.preventDefault();
      show(Math.min(data.x.length - 1, Math.max(0, at + step)));
    });
  }
})();
)JS";
}

}  // namespace foxhunt::report
