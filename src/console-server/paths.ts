/** Where the console is. Its pages are below, and their addresses are its own. */
export const consolePath = "/ui/console";
export const loginPath = `${consolePath}/login`;
export const logoutPath = `${consolePath}/logout`;
export const previewPath = `${consolePath}/preview`;
export const assetsPath = `${consolePath}/assets`;
