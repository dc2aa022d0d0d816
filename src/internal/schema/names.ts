/** Which names of an answer's members may be shown: those of a map are content, such as an e-mail address. */

/** Whether a text is a short identifier with few digits, as developers choose them. */
export const isName = (text: string): boolean => text.length <= 40 && /^[A-Za-z_]+(?:[0-9]{1,3}[A-Za-z_]*)?$/.test(text)
