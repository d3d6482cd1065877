// Before anything is drawn, so that no page flashes in the other theme. A file of its own: inline scripts are not allowed.
const chosen = localStorage.getItem('theme')
const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
document.documentElement.dataset.theme = dark ? 'dark' : 'light'
