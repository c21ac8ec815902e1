/**
 * What surrounds the daemon in the process of {@code larder serve}: its log, its signals, its start in the
 * background.
 */
@NullMarked
package dev.larder.command.serve;

import org.jspecify.annotations.NullMarked;
