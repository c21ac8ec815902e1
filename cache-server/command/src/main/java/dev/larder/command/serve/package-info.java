/**
 * The process of {@code larder serve} around the daemon: its log, its signals, its start in the background.
 */
@NullMarked
package dev.larder.command.serve;

import org.jspecify.annotations.NullMarked;
