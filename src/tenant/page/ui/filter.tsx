/** A field that filters a list. */

interface Properties {
  readonly label: string
  readonly placeholder?: string
  readonly class?: string
  readonly value: string
  readonly onChange: (value: string) => void
}

export const Filter = ({ class: name = "", label, onChange, placeholder = label, value }: Properties) => (
  <label class={name}>
    <span class="hidden">{label}</span>
    <input
      type="search"
      placeholder={placeholder}
      value={value}
      onInput={(event) =>
        onChange(event.currentTarget.value)}
    />
  </label>
)
