/** The requested pages: 50 versions with 5 KB of code each. */
export const perPage = 50

export const codeLength = 5000
