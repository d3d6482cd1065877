"""Files that are sent while they are read, and broken off cleanly when the reader goes away or something goes wrong."""

import logging
import threading
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lionstudio.domain.errors import Error
from lionstudio.server.live import PATIENCE, cut
from lionstudio.server.threads import SLOW
from lionstudio.services.export_stream import Export

STUCK_AFTER = 600.0  # seconds in which a reader takes nothing at all; people pause downloads

logger = logging.getLogger("lionstudio.server")


class Download(StreamingResponse):
    """An export on its way to somebody. Nothing is kept open once it has ended, however it ended."""

    def __init__(self, export: Export) -> None:
        self._export = export
        self._reading = threading.Lock()
        self._is_over = False
        headers = {
            "Content-Disposition": f'attachment; filename="{export.file_name}"',
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        }
        if export.size is not None:
            headers["Content-Length"] = str(export.size)
        super().__init__(self._pieces(), headers=headers, media_type=export.media_type)

    async def _pieces(self) -> AsyncIterator[bytes]:
        while (piece := await SLOW.run(self._read)) is not None:
            yield piece

    def _read(self) -> bytes | None:
        try:
            with self._reading:
                return None if self._is_over else next(self._export.pieces, None)
        finally:
            if self._is_over:
                self._close()

    def _close(self) -> None:
        """At once; or after the piece that is being read, by who reads it."""
        self._is_over = True
        if self._reading.acquire(blocking=False):
            try:
                self._export.pieces.close()
            finally:
                self._reading.release()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[PATIENCE] = STUCK_AFTER
        try:
            await super().__call__(scope, receive, send)
        except Error as error:
            # Without the last piece the line is cut, so that nobody takes a part for the whole.
            logger.warning("the export %s broke off: %s", self._export.file_name, error)
            await cut(scope)
        finally:
            self._close()
