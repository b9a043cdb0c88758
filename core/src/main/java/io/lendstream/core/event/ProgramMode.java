package io.lendstream.core.event;

/** How a program that a job submits follows a change of its GPUs. */
public enum ProgramMode {
    /** Of a later version; no actuator runs it. */
    UNKNOWN,
    /** All workers are ended, and the new number is started. */
    RESTART,
    /** In place, with the package {@code lendstream_afe}. */
    AFE
}
