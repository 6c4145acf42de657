// JupyterLab's frame in a window as narrow as a phone's: nothing of it is cut, and nothing
// can be scrolled sideways.

export const NARROW = 640; // pixels

const TAB = "#jp-main-dock-panel .lm-DockPanel-tabBar .lm-TabBar-tab";

export const NARROW_STYLE = `
@media (max-width: ${NARROW}px) {
  #jp-main-dock-panel { padding: 0; }
  /* What has the focus is scrolled to, even in a part without a scrollbar: all would be shifted. */
  #main, #jp-top-panel, #jp-main-content-panel { overflow: clip; }
  #jp-MainLogo { display: none; }
  #jp-MainMenu .lm-MenuBar-item { padding: 0 5px; }
  #jp-main-statusbar .jp-StatusBar-Right > :not(.jp-Notification-Status) { display: none; }
  /* The tab that one reads is named in full where there is room; the others show how they begin. */
  ${TAB} { flex: 0 1 auto; min-width: 80px; padding: 0 8px; }
  ${TAB}:not(.lm-mod-current) { flex-shrink: 1000; min-width: 36px; }
  ${TAB}:first-child:not(.lm-mod-current) { min-width: 56px; }
  ${TAB} .lm-TabBar-tabIcon, ${TAB}:not(.lm-mod-current) .lm-TabBar-tabCloseIcon { display: none; }
}
`;

/** Put the strips of icons at the sides away where the window is narrow; View brings them back. */
export function makeRoom(lab) {
  const command = "application:toggle-side-tabbar";
  const { commands, shell } = lab.app;
  if (window.innerWidth > NARROW || !commands.hasCommand(command)) return;
  shell.collapseLeft?.();
  for (const args of [{ side: "left" }, { side: "right" }]) {
    if (commands.isToggled(command, args)) commands.execute(command, args);
  }
}
