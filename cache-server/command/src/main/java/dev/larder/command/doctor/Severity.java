package dev.larder.command.doctor;

/** How much a finding matters. */
public enum Severity {
    /** All is well. */
    OK,
    /** Works; could be better, or is good to know. */
    INFO,
    /** Works now, and may bite. */
    WARNING,
    /** Does not work. */
    PROBLEM
}
