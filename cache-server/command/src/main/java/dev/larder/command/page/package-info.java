/**
 * The status page of a daemon: {@link dev.larder.command.page.StatusPage} lists its resources. It shows the same facts as the commands,
 * by the same classes, and changes nothing.
 */
@NullMarked
package dev.larder.command.page;

import org.jspecify.annotations.NullMarked;
