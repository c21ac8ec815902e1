package dev.larder.command.doctor;

/** Checks one aspect of the machine. */
interface Check {
    /** Returns the name of the check, which is part of its finding. */
    String name();

    /** Checks; changes nothing. */
    Finding look(Machine machine);
}
