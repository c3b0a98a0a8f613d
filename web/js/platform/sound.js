/**
 * The sound of notifications.
 * @module
 */

/** @type {AudioContext | null} */
let audio = null;

/** A short sound, made here: two tones. */
export function playSound() {
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    for (const [index, frequency] of [660, 880].entries()) {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.12, start + index * 0.12);
      volume.gain.exponentialRampToValueAtTime(0.001, start + index * 0.12 + 0.25);
      tone.connect(volume).connect(audio.destination);
      tone.start(start + index * 0.12);
      tone.stop(start + index * 0.12 + 0.3);
    }
  } catch {
    // No sound before the first input, and none on devices without.
  }
}
