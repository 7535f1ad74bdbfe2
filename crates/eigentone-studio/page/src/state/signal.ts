/** A value that tells its subscribers when it changes. */
export class Signal<T> {
  private readonly subscribers = new Set<(value: T, before: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set value(value: T) {
    if (Object.is(value, this.current)) return;
    const before = this.current;
    this.current = value;
    for (const subscriber of [...this.subscribers]) subscriber(value, before);
  }

  /** Calls `subscriber` now and after every change; returns how to stop. */
  subscribe(subscriber: (value: T, before: T) => void): () => void {
    this.subscribers.add(subscriber);
    subscriber(this.current, this.current);
    return () => this.subscribers.delete(subscriber);
  }

  /** As `subscribe`, but not called at once. */
  changed(subscriber: (value: T, before: T) => void): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }
}
