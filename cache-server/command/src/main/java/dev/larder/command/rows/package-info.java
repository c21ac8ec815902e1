/**
 * Contents of a store that commands read without the daemon: {@link dev.larder.command.rows.StoredRows computed rows}, and
 * {@link dev.larder.command.rows.KnownArrays arrays} if no daemon runs.
 */
@NullMarked
package dev.larder.command.rows;

import org.jspecify.annotations.NullMarked;
