/**
 * The sound of notifications.
 * @module
 */

/** @type {AudioContext | null} */
let audio = null;

/** When the sound ends that was played last, by the clock of `audio`. */
let end = 0;

/** A short sound, made here: two tones. Messages that come at once share one: their sounds would add up, and be loud. */
export function playSound() {
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    if (start < end) {
      // Its clock may have waited for the first input of the user.
      void audio.resume().catch(() => {});
      return;
    }
    for (const [index, frequency] of [660, 880].entries()) {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.12, start + index * 0.12);
      volume.gain.exponentialRampToValueAtTime(0.001, start + index * 0.12 + 0.25);
      tone.connect(volume).connect(audio.destination);
      tone.start(start + index * 0.12);
      end = start + index * 0.12 + 0.3;
      tone.stop(end);
    }
  } catch {
    // No sound before the first input, and none on devices without.
  }
}
