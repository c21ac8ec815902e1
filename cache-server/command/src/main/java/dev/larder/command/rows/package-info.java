/** Computed rows as commands show, check and freeze them; the daemon knows their regions alone. */
@NullMarked
package dev.larder.command.rows;

import org.jspecify.annotations.NullMarked;
