/** Commands that show, check and freeze computed rows; the daemon handles only their regions. */
@NullMarked
package dev.larder.command.rows;

import org.jspecify.annotations.NullMarked;
