import type { Survivors } from "../survivors.js"

export const survivors: Survivors = []
