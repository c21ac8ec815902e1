/**
 * Checks a machine for problems that stop Larder or slow it down. {@link dev.larder.command.doctor.Examination} is the entry point;
 * {@link dev.larder.command.doctor.Machine} is the machine as checks see it.
 */
@NullMarked
package dev.larder.command.doctor;

import org.jspecify.annotations.NullMarked;
