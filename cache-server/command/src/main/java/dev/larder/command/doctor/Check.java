package dev.larder.command.doctor;

/** Looks at one subject. */
interface Check {
    /** Returns the name of the subject, as findings carry it. */
    String name();

    /** Looks, and changes nothing. */
    Finding look(Machine machine);
}
