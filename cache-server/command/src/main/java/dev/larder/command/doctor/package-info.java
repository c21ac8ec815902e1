/**
 * Looks at a machine for what keeps Larder from working, or from working well. {@link dev.larder.command.doctor.Examination} is
 * the entry point; {@link dev.larder.command.doctor.Machine} is all that checks see, so that tests can make one up.
 */
@NullMarked
package dev.larder.command.doctor;

import org.jspecify.annotations.NullMarked;
