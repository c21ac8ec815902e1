/** What launches look up in the kernel; not for programs that launch. */
@NullMarked
package dev.larder.launch.internal;

import org.jspecify.annotations.NullMarked;
