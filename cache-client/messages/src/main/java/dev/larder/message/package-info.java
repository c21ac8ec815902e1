/** Records as JSON messages between processes: start at {@link dev.larder.message.Messages}. */
@NullMarked
package dev.larder.message;

import org.jspecify.annotations.NullMarked;
