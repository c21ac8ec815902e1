/**
 * The status page of a daemon: {@link dev.larder.command.page.StatusPage} has what is read over HTTP. It says what the commands say, by
 * the same classes, and changes nothing.
 */
@NullMarked
package dev.larder.command.page;

import org.jspecify.annotations.NullMarked;
