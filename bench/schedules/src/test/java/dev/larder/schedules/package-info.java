/** Protocols between threads of one process, in many orders: {@link dev.larder.schedules.Schedules} chooses them. */
@NullMarked
package dev.larder.schedules;

import org.jspecify.annotations.NullMarked;
