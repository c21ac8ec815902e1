package dev.larder.command.doctor;

/** The importance of a finding. */
public enum Severity {
    /** Nothing is wrong. */
    OK,
    /** Works, but could be better; or useful to know. */
    INFO,
    /** Works now, but may fail later. */
    WARNING,
    /** Does not work. */
    PROBLEM
}
